/**
 * Makes the slabs smaller from which Node cuts small buffers. A slab stays as long as one of its buffers is in use.
 *
 * With slabs of Node's usual 64 KiB, the bodies of running attempts kept most slabs, with all the bodies of ended
 * attempts in them. V8 collects the whole heap whenever 64 MiB of such memory have been added. A worker with 100,000
 * subscriptions then did so every two or three seconds, which took an eighth of its CPU.
 */
const SLAB_BYTES = 8_192

/** Called once, when the process starts. It takes effect when the present slab is used up. */
export function useSmallSlabs(): void {
  Buffer.poolSize = SLAB_BYTES
}
