/** The server’s verdict on a lane, in one word. The sentence of the verdict appears on hover. */
import type { Lane } from '../../api/api-types.ts'
import { words } from '../../i18n/en.ts'
import { Badge, type Tone } from '../../parts/show.tsx'

type Verdict = Lane['verdict']

const TONES: Record<Verdict['code'], Tone> = {
  gone: 'bad',
  paused: 'warn',
  pending: undefined,
  misconfigured: 'bad',
  dlqMissing: 'bad',
  endpointDisabled: 'bad',
  queueMissing: 'bad',
  queueRefuses: 'bad',
  quarantined: 'bad',
  circuitOpen: 'bad',
  failing: 'bad',
  hung: 'bad',
  groupBlocked: 'bad',
  tooSlowIn: 'bad',
  throttled: 'warn',
  undispatched: 'bad',
  catchingUp: 'warn',
  fine: 'good',
}

export function VerdictBadge({ verdict }: { verdict: Verdict }) {
  const { lastStatusCode, lastError } = verdict.facts
  const cause = verdict.code === 'failing' ? ` ${lastStatusCode ?? lastError ?? ''}` : ''
  return (
    <span title={verdict.sentence}>
      <Badge tone={TONES[verdict.code]}>
        {words.lanes.verdicts[verdict.code]}
        {cause}
      </Badge>
    </span>
  )
}
