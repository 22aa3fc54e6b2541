/**
 * Topics of one Fantail that differ in their settings, for laps of equal work. The processes are the same for all of
 * them, so a small difference of CPU time shows. Two equal processes alone differ by up to 5 %.
 */
import type { Contestant } from '../../contest/contestant.ts'
import type { Fantail } from '../../contest/fantail.ts'
import { ask } from '../../processes/ipc.ts'
import type { Stage } from '../../stage.ts'

export const FAN_OUT = 10

/** Creates a topic with ten subscriptions. The result publishes to it. */
export async function onTopic(
  { receiverPort, publishers }: Stage,
  fantail: Fantail,
  { name, settings }: { name: string; settings: object },
): Promise<Contestant> {
  const { port } = fantail
  const endpoints = Array.from({ length: FAN_OUT }, (_, n) => `http://127.0.0.1:${receiverPort}/s${n}`)
  await fantail.createTopic(name, endpoints)
  const answer = await fetch(`http://127.0.0.1:${port}/v1/topics/${name}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(settings),
  })
  if (!answer.ok) throw new Error(`PATCH ${name}: ${answer.status} ${await answer.text()}`)
  const paths = [`/v1/topics/${name}/messages`]
  return { ...fantail, load: (_, load) => ask(publishers, 'load', { port, paths, ...load }) }
}
