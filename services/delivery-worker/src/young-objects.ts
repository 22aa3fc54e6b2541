/**
 * Makes V8 create all objects in the young generation, in which it collects garbage cheaply.
 *
 * If many objects that one place in the code has created outlive two collections, V8 creates later objects of this
 * place in the old generation. While a worker reads the subscriptions of a large topic, the buffers of bodies often
 * outlive them. From then on V8 frees the bodies of ended attempts only by collecting the whole heap, and it does so
 * for every 64 MiB of them. That took a sixth of the worker's CPU at fan-out 100,000, in about every second process,
 * although objects of attempts live only for milliseconds.
 */
import { setFlagsFromString } from 'node:v8'

/** Called once, when the process starts. V8 looks at this setting at each collection. */
export function makeObjectsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}
