import type { WaitCause } from '@fantail/contracts'
import type { Again } from '@fantail/delivery'
import type { Claim } from '@fantail/store'
import type { HeldBodies } from '../attempts/body-bytes.ts'
import type { InRun } from '../fifo/group-run.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import type { MessageContext } from '../topics/message-context.ts'

/** A claim that is neither settled nor handed back, with what its attempt needs. */
export interface ClaimInHand {
  subscription: CompiledSubscription
  claim: Claim
  message: MessageContext
  /** FIFO: what may go with it. */
  run?: InRun[]
  /** Throttled: the requests that the attempt has made. */
  after?: Again
  /** Throttled: a request has missed its send time, as the endpoint took so long to connect. */
  slowToConnect?: true
  /** When to send, by performance.now(); null: at once. */
  sendAt: number | null
  /** Its lane took the endpoint for proven when it was claimed. */
  proven: boolean
  /** The cause of its wait until it was claimed; set when it begins. */
  heldBy?: WaitCause | undefined
  /** Its message and those of its run, as BodyBytes counts them. */
  held?: HeldBodies
  /** Whether it has a slot of AttemptSlots. Without one it takes it at its send time. */
  hasSlot: boolean
  /** When the subscription's settings were last known to be current (performance.now()). */
  checkedAt: number
}
