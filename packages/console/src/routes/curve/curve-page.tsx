/** The curve editor: a delivery policy as a form and a plot, drawn by the worker’s own code before it is saved. */
import type { Subscription, Topic } from '@fantail/client/api'
import type { RetryPolicy } from '@fantail/contracts'
import { checkDeliveryPolicy, PRESETS, PROTOCOL_TRAITS } from '@fantail/policy'
import { getRouteApi } from '@tanstack/react-router'
import { useDeferredValue, useMemo, useRef, useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { useRead, useWrite } from '../../api/use-api.ts'
import { curveOf } from '../../charts/jitter-band.ts'
import { CurveTable, RetryCurve } from '../../charts/retry-curve.tsx'
import { words } from '../../i18n/en.ts'
import { Button, CopyButton } from '../../parts/button.tsx'
import { Check, Select, TextInput } from '../../parts/fields.tsx'
import { formatSeconds, nameOf } from '../../parts/formats.ts'
import { SubscriptionLink, subscriptionLabel, TopicLink } from '../../parts/links.tsx'
import { CopyCurl, PageHead, useTitle } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { Pairs } from '../../parts/show.tsx'
import { Failed, Loaded } from '../../parts/states.tsx'
import { DeletedSubscription } from '../subscriptions/deleted-subscription.tsx'
import { policyPairs } from '../topics/policy-pairs.ts'
import { BACKOFFS, type Draft, draftOf, MEMBERS, policyOf, saveChecked } from './policy-draft.ts'

const w = words.curve
const route = getRouteApi('/subs/$id/curve')

export function CurvePage() {
  const { id } = route.useParams()
  const read = useRead(operations.getSubscription, { path: { id } })
  useTitle(read.data && subscriptionLabel(read.data), w.title)
  return (
    <Loaded read={read} frame={<PageHead title={w.title} />} gone={<DeletedSubscription id={id} />}>
      {(subscription) =>
        PROTOCOL_TRAITS[subscription.protocol].takes.deliveryPolicy ? (
          <Editor key={subscription.id} subscription={subscription} />
        ) : (
          <Fixed subscription={subscription} />
        )
      }
    </Loaded>
  )
}

/** Shows the policy of an endpoint kind whose retries cannot be changed. */
function Fixed({ subscription }: { subscription: Subscription }) {
  return (
    <>
      <PageHead title={w.title} above={<Above subscription={subscription} />} />
      <section className={css.panel}>
        <h2>{w.fixed}</h2>
        <Pairs pairs={policyPairs(subscription.effectiveDeliveryPolicy)} />
      </section>
    </>
  )
}

function Above({ subscription: { id, topicArn, name, endpoint } }: { subscription: Subscription }) {
  return (
    <>
      <TopicLink arn={topicArn} /> → <SubscriptionLink id={id} name={name} endpoint={endpoint} />
    </>
  )
}

function Editor({ subscription }: { subscription: Subscription }) {
  const { id, topicArn, effectiveDeliveryPolicy: inForce } = subscription
  const topic = useRead(operations.getTopic, { path: { topic: nameOf(topicArn) } })
  const [draft, setDraft] = useState(() => draftOf(inForce))
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { retry, throttle } = policyOf(draft)
  const deliveryPolicy = {
    ...subscription.deliveryPolicy,
    healthyRetryPolicy: { ...subscription.deliveryPolicy?.healthyRetryPolicy, ...retry },
    throttlePolicy: throttle === undefined ? undefined : { maxReceivesPerSecond: throttle },
  }
  const problems = checkDeliveryPolicy(deliveryPolicy, { path: 'deliveryPolicy', contentTypes: 'raw' })
  const jitter = useJitter(subscription)
  const shown = useLastValid(retry, problems.length === 0)
  const deferred = useDeferredValue(shown)
  const points = useMemo(() => curveOf(deferred, jitter), [deferred, jitter])
  const input = { path: { id }, body: { deliveryPolicy } }
  const change = (member: keyof Draft, value: string) => setDraft({ ...draft, [member]: value })
  const problemOf = (member: string) => problems.find(({ path }) => path.endsWith(`.${member}`))?.message
  return (
    <>
      <PageHead
        title={w.title}
        above={<Above subscription={subscription} />}
        request={callOf(operations.getSubscription, { path: { id } })}
      />
      <div className={css.editor}>
        <section className={`${css.panel} ${css.form}`}>
          <div className={css.row}>
            {Object.entries(PRESETS).map(([name, { policy, description }]) => (
              <Button
                key={name}
                aria-label={`${name}: ${description}`}
                onPress={() => setDraft(draftOf({ healthyRetryPolicy: policy, throttlePolicy: null }))}
              >
                {name}
              </Button>
            ))}
          </div>
          <div className={css.fields}>
            {MEMBERS.map((member) => (
              <TextInput
                key={member}
                label={w.members[member]}
                type="number"
                min={0}
                value={draft[member]}
                onChange={(value) => change(member, value)}
                problem={problemOf(member)}
              />
            ))}
            <Select
              label={words.policy.backoff}
              value={draft.backoffFunction}
              onChange={(value) => change('backoffFunction', value)}
              options={BACKOFFS}
            />
            <TextInput
              label={w.throttle}
              hint={w.throttleHint}
              type="number"
              min={0}
              step="any"
              value={draft.throttle}
              onChange={(value) => change('throttle', value)}
              problem={problemOf('maxReceivesPerSecond')}
            />
          </div>
          <Verdict points={points} problems={problems} />
          <Origin subscription={subscription} topic={topic.data} />
          <Save subscription={subscription} input={input} isValid={problems.length === 0} />
        </section>
        <section className={css.panel}>
          <RetryCurve points={points} isLogarithmic={search.log === '1'} isOld={problems.length > 0} />
          <Check
            label={w.logarithmic}
            isChecked={search.log === '1'}
            onChange={(log) => void navigate({ search: { log: log ? '1' : undefined }, replace: true })}
          />
          <p className={`${css.quiet} ${css.small}`}>{w.bands(Math.round(jitter * 100))}</p>
        </section>
      </div>
      <CurveTable points={points} />
    </>
  )
}

/** The server's jitter: the share by which it varies delays. */
function useJitter({ effectiveDeliveryPolicy }: Subscription): number {
  const { retryOn: _, ...healthyRetryPolicy } = effectiveDeliveryPolicy.healthyRetryPolicy
  const preview = useRead(
    operations.previewRetries,
    { body: { deliveryPolicy: { healthyRetryPolicy } } },
    { everyMs: false },
  )
  return preview.data?.jitter ?? 0
}

/** The last valid policy. While a member is wrong, the plot stays unchanged. */
function useLastValid(retry: RetryPolicy, isValid: boolean): RetryPolicy {
  const last = useRef(JSON.stringify(retry))
  if (isValid) last.current = JSON.stringify(retry)
  const text = last.current
  return useMemo(() => JSON.parse(text) as RetryPolicy, [text])
}

interface VerdictProps {
  points: ReturnType<typeof curveOf>
  problems: { path: string; message: string }[]
}

function Verdict({ points, problems }: VerdictProps) {
  const last = points.at(-1)
  if (problems.length > 0) {
    return (
      <ul className={css.notice} data-kind="bad" role="status">
        {problems.map(({ path, message }) => (
          <li key={`${path} ${message}`}>
            <code>{path.replace('deliveryPolicy.', '')}</code> {message}
          </li>
        ))}
      </ul>
    )
  }
  return (
    <p className={css.notice} data-kind="good" role="status">
      {last
        ? w.valid(
            points.length,
            formatSeconds(last.atSeconds),
            formatSeconds(last.outer[0]),
            formatSeconds(last.outer[1]),
          )
        : w.noRetries}
    </p>
  )
}

function Origin({ subscription, topic }: { subscription: Subscription; topic: Topic | undefined }) {
  if (!topic) return null
  const own = subscription.deliveryPolicy?.healthyRetryPolicy
  const shared = topic.deliveryPolicy?.healthyRetryPolicy
  const text = topic.disableSubscriptionOverrides
    ? w.ignored
    : own
      ? w.fromSubscription
      : shared
        ? w.fromTopic
        : w.fromDefault
  return <p className={`${css.quiet} ${css.small}`}>{text}</p>
}

interface SaveProps {
  subscription: Subscription
  input: Parameters<typeof saveChecked>[0]
  isValid: boolean
}

function Save({ subscription, input, isValid }: SaveProps) {
  const update = useWrite(saveChecked)
  const isSame =
    JSON.stringify(subscription.deliveryPolicy?.healthyRetryPolicy) ===
    JSON.stringify(input.body.deliveryPolicy?.healthyRetryPolicy)
  return (
    <>
      {update.error && <Failed error={update.error} />}
      {update.data && isSame && (
        <p className={css.notice} data-kind="good" role="status">
          {w.saved}
        </p>
      )}
      <div className={css.row}>
        <Button kind="primary" isDisabled={!isValid || update.isPending} onPress={() => update.mutate(input)}>
          {words.save}
        </Button>
        <CopyButton
          kind="plain"
          label={w.copyJson}
          text={JSON.stringify(input.body.deliveryPolicy, null, 2)}
        />
        <CopyCurl call={callOf(operations.updateSubscription, input)} />
      </div>
    </>
  )
}
