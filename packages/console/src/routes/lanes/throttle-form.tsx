/** Changes how much a lane sends: its throttle, and how many requests it makes at once. */
import type { Subscription } from '@fantail/client/api'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { problemAt } from '../../api/api-error.ts'
import { useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { TextInput } from '../../parts/fields.tsx'
import { formatSeconds } from '../../parts/formats.ts'
import css from '../../parts/parts.module.css'
import { WriteForm } from '../../parts/write-form.tsx'
import { rateThatDrains, secondsToDrainAt } from './lane-flow.tsx'

const w = words.remedy
const RATE = 'deliveryPolicy.throttlePolicy.maxReceivesPerSecond'

export function ThrottleForm({ subscription }: { subscription: Subscription }) {
  const { id, deliveryPolicy, maxInFlight, lane } = subscription
  const advised = useAdvice(subscription)
  const [typed, setRate] = useState<string>()
  const rate = typed ?? String(advised ?? lane.rate ?? '')
  const [atOnce, setAtOnce] = useState(() => String(maxInFlight))
  const update = useWrite(operations.updateSubscription)
  const { throttlePolicy: _, ...others } = deliveryPolicy ?? {}
  const throttled = rate === '' ? {} : { throttlePolicy: { maxReceivesPerSecond: Number(rate) } }
  const body = {
    ...(rate !== String(lane.rate ?? '') && { deliveryPolicy: { ...others, ...throttled } }),
    ...(atOnce !== String(maxInFlight) && { maxInFlight: Number(atOnce) }),
  }
  const input = { path: { id }, body }
  const isChanged = Object.keys(body).length > 0
  return (
    <WriteForm
      write={update}
      action={w.change}
      onSend={() => update.mutate(input)}
      isReady={isChanged}
      call={isChanged ? callOf(operations.updateSubscription, input) : undefined}
      beside={update.isSuccess && <span role="status">{w.changed}</span>}
    >
      <div className={css.fields}>
        <TextInput
          label={w.rate}
          hint={drainHint(subscription, Number(rate)) ?? w.rateHint}
          type="number"
          min={0}
          step="any"
          value={rate}
          onChange={setRate}
          problem={problemAt(update.error, RATE)}
        />
        <TextInput
          label={w.atOnce}
          type="number"
          min={1}
          isRequired
          value={atOnce}
          onChange={setAtOnce}
          problem={problemAt(update.error, 'maxInFlight')}
        />
      </div>
    </WriteForm>
  )
}

function drainHint(subscription: Subscription, rate: number): string | undefined {
  const seconds = secondsToDrainAt(subscription, rate)
  if (seconds === undefined) return undefined
  return w.rateDrains(subscription.verdict.facts.arrivalsPerSecond ?? 0, rate, formatSeconds(seconds))
}

/** Arrivals are known only after a while. The first advice stays, so that no later read changes it under the hand. */
function useAdvice(subscription: Subscription): number | undefined {
  const [advised, setAdvised] = useState<number>()
  const now = rateThatDrains(subscription)
  if (advised === undefined && now !== undefined) setAdvised(now)
  return advised ?? now
}
