/**
 * Makes V8 create all objects in the young generation, in which it collects garbage cheaply.
 *
 * If many objects that one place in the code has created outlive two collections, V8 creates later objects of this
 * place in the old generation. From then on V8 frees them only by collecting the whole heap. In a worker these were the
 * bodies of messages while it read the subscriptions of a large topic: V8 collected the whole heap for every 64 MiB of
 * bodies, which took a sixth of the worker's CPU at fan-out 100,000, in about every second process. In the API these
 * may be publishes that wait for Redis together.
 */
import { setFlagsFromString } from 'node:v8'

/** Called once, when the process starts. V8 looks at this setting at each collection. */
export function makeObjectsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}
