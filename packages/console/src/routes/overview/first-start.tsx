/** The first start: one button publishes a message, and shows it in the queue that it has reached. */
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { curlOf, send } from '../../api/send.ts'
import { words } from '../../i18n/en.ts'
import { Button, CopyButton } from '../../parts/button.tsx'
import { MessageText } from '../../parts/message-text.tsx'
import css from '../../parts/parts.module.css'
import { Badge } from '../../parts/show.tsx'
import { Failed } from '../../parts/states.tsx'

const w = words.start
const TOPIC = 'hello'
const QUEUE = 'hello-inbox'
/** Time that the first start waits for its message. Past it: it says that none came. */
const ARRIVAL_MS_MAX = 10_000
const POLL_MS = 60

const topic = { topic: TOPIC }
const queue = { queue: QUEUE }
const CALLS = {
  topic: callOf(operations.createTopic, { path: topic, body: {} }),
  queue: callOf(operations.createQueue, { path: queue, body: {} }),
  subscribe: callOf(operations.subscribe, {
    path: topic,
    body: { endpoint: QUEUE, protocol: 'sqs', rawMessageDelivery: true },
  }),
  publish: callOf(operations.publish, { path: topic, body: { message: w.greeting } }),
  arrive: callOf(operations.peekMessages, { path: queue }),
}
const STEPS = Object.keys(CALLS) as (keyof typeof CALLS)[]

interface Arrival {
  messageId: string
  body: string
  afterMs: number
}

export function FirstStart() {
  const [done, setDone] = useState(0)
  const [isRunning, setRunning] = useState(false)
  const [error, setError] = useState<unknown>()
  const [arrival, setArrival] = useState<Arrival>()
  const run = async () => {
    setRunning(true)
    setError(undefined)
    setArrival(undefined)
    setDone(0)
    try {
      setArrival(await publishFirst(setDone))
      setDone(STEPS.length)
    } catch (thrown) {
      setError(thrown)
    }
    setRunning(false)
  }
  return (
    <section className={css.panel}>
      <h2>{w.title}</h2>
      <div className={css.stack}>
        <p className={css.quiet}>{w.why}</p>
        <ol className={css.stack}>
          {STEPS.map((id, index) => (
            <li key={id}>
              <Badge tone={index < done ? 'good' : undefined}>{index + 1}</Badge> {w.steps[id]}
            </li>
          ))}
        </ol>
        <div className={css.row}>
          <Button kind="primary" isDisabled={isRunning} onPress={() => void run()}>
            {arrival ? w.again : w.go}
          </Button>
        </div>
        <div aria-live="polite">
          {error ? <Failed error={error} onRetry={() => void run()} /> : null}
          {arrival && <Arrived {...arrival} />}
        </div>
        <Terminal />
      </div>
    </section>
  )
}

const curlLines = async () => (await Promise.all(Object.values(CALLS).map(curlOf))).join('\n')

function Terminal() {
  const [lines, setLines] = useState('')
  useEffect(() => void curlLines().then(setLines), [])
  return (
    <details>
      <summary>{w.terminal}</summary>
      <pre className={css.text}>{lines}</pre>
      <CopyButton text={lines} />
    </details>
  )
}

function Arrived({ messageId, body, afterMs }: Arrival) {
  return (
    <div className={css.stack}>
      <p className={css.notice} data-kind="good">
        {w.arrived(afterMs)}
      </p>
      <MessageText text={body} />
      <div className={css.row}>
        <Link to="/messages/$id" params={{ id: messageId }}>
          {w.follow}
        </Link>
        <Link to="/topics/$topic" params={{ topic: TOPIC }}>
          {w.toTopic}
        </Link>
      </div>
    </div>
  )
}

/** Each step may be repeated: things that exist stay as they are. */
async function publishFirst(onStep: (done: number) => void): Promise<Arrival> {
  const before = await countOf()
  for (const [index, { operation, input }] of [CALLS.topic, CALLS.queue, CALLS.subscribe].entries()) {
    await send(operation, input as never)
    onStep(index + 1)
  }
  const { messageId } = (await send(CALLS.publish.operation, CALLS.publish.input as never)) as {
    messageId: string
  }
  const publishedAt = performance.now()
  onStep(4)
  while (performance.now() - publishedAt < ARRIVAL_MS_MAX) {
    if ((await countOf()) > before) {
      const afterMs = Math.round(performance.now() - publishedAt)
      const { messages } = await send(operations.peekMessages, { path: { queue: QUEUE } })
      return { messageId, body: messages.at(-1)?.body ?? '', afterMs }
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  throw new Error(w.notArrived)
}

/** The number of messages from earlier tries. The queue may not exist yet. */
async function countOf(): Promise<number> {
  const found = await send(operations.listQueues, { query: { prefix: QUEUE } })
  return found.queues.find(({ name }) => name === QUEUE)?.counts.visible ?? 0
}
