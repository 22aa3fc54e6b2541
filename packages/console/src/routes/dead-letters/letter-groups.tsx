/**
 * Dead letters grouped by cause, and by the hour in which they were dead-lettered. A click on a group makes it the
 * filter.
 */
import type { DeadLetterCounts } from '@fantail/client/api'
import { Link } from '@tanstack/react-router'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Select } from '../../parts/fields.tsx'
import { formatNumber, nameOf } from '../../parts/formats.ts'
import css from '../../parts/parts.module.css'
import { When } from '../../parts/show.tsx'
import { Empty } from '../../parts/states.tsx'
import {
  filterOfGroup,
  isEmptyFilter,
  isOfGroup,
  type LetterFilter,
  type LetterGroup,
} from './letter-filter.ts'

const w = words.deadLetters

interface Props {
  counts: DeadLetterCounts
  /** false: the counts are those of an earlier filter, until those of the present one are there. */
  isCounted: boolean
  filter: LetterFilter
  /** The filter in words. */
  described: string
  onChoose: (filter: LetterFilter) => void
}

export function LetterGroups({ counts, isCounted, filter, described, onChoose }: Props) {
  const { groups = [], otherGroups = 0, byHour = [], matched = 0, scannedTo } = counts
  // The list below says that the queue is empty.
  if (matched === 0 && isEmptyFilter(filter) && !scannedTo) return null
  return (
    <section className={css.panel}>
      <h2>{w.groups}</h2>
      <div className={css.row}>
        <p role="status">{isCounted ? w.filtered(matched, described) : w.counting}</p>
        <SinceChoice filter={filter} onChoose={onChoose} />
        {!isEmptyFilter(filter) && <Button onPress={() => onChoose({})}>{w.clear}</Button>}
      </div>
      {scannedTo && (
        <p className={css.notice} data-kind="warn">
          {w.scannedTo} <When at={scannedTo} />
        </p>
      )}
      <LetterHours hours={byHour} />
      <DataTable
        label={w.groups}
        columns={columnsFor(filter, groups, onChoose)}
        rows={groups}
        keyOf={groupName}
        empty={<Empty title={w.noneMatches} />}
      />
      {otherGroups > 0 && <p className={css.quiet}>{w.otherGroups(otherGroups)}</p>}
    </section>
  )
}

function groupName({ reason, statusCode, error, subscription }: LetterGroup): string {
  return [reason, statusCode, error, subscription].join(' ')
}

function columnsFor(
  filter: LetterFilter,
  groups: readonly LetterGroup[],
  onChoose: Props['onChoose'],
): readonly Column<LetterGroup>[] {
  const areOfSubscriptions = groups.some(({ subscription }) => subscription !== undefined)
  return [
    {
      title: w.reason,
      show: (group) => {
        const isChosen = isOfGroup(filter, group)
        const next = isChosen ? {} : filterOfGroup(filter, group)
        return (
          <button type="button" aria-pressed={isChosen} className={css.choice} onClick={() => onChoose(next)}>
            {group.reason}
          </button>
        )
      },
    },
    { title: words.message.lastAnswer, show: ({ statusCode, error }) => statusCode ?? error ?? '–' },
    ...(areOfSubscriptions
      ? [{ title: words.pages.subscription, show: (group: LetterGroup) => <Subscriber group={group} /> }]
      : []),
    { title: w.oldest, show: ({ oldestAt }) => <When at={oldestAt} /> },
    { title: w.newest, show: ({ newestAt }) => <When at={newestAt} /> },
    { title: w.letters, show: ({ count }) => formatNumber(count), isNumber: true },
  ]
}

/** A subscription that is gone has no name, so its id is shown. */
function Subscriber({ group: { subscription, subscriptionName } }: { group: LetterGroup }) {
  if (subscription === undefined) return null
  const id = nameOf(subscription)
  if (!subscriptionName) return id
  return (
    <Link to="/subs/$id" params={{ id }} title={id}>
      {subscriptionName}
    </Link>
  )
}

const HOUR_MS = 3_600_000
const SINCE_HOURS = { '': 0, hour: 1, day: 24, week: 168 } as const
type SinceName = keyof typeof SINCE_HOURS

function SinceChoice({ filter, onChoose }: Pick<Props, 'filter' | 'onChoose'>) {
  const names = Object.keys(SINCE_HOURS) as SinceName[]
  const choose = (name: SinceName) => {
    const since = new Date(Date.now() - SINCE_HOURS[name] * HOUR_MS).toISOString()
    onChoose({ ...filter, since: name === '' ? undefined : since })
  }
  return (
    <Select
      label={w.since}
      value={sinceName(filter.since)}
      onChange={choose}
      options={names.map((value) => ({ value, label: w.sinceNames[value] }))}
    />
  )
}

/** The shortest choice that includes the time of the filter. */
function sinceName(since: string | undefined): SinceName {
  if (since === undefined) return ''
  const hours = (Date.now() - Date.parse(since)) / HOUR_MS
  return hours < 2 ? 'hour' : hours < 25 ? 'day' : 'week'
}

type Hours = NonNullable<DeadLetterCounts['byHour']>

const HEIGHT = 48
const BAR = 10
/** Hours of the histogram of dead letters. Past it: earlier ones are left out, and the text says so. */
const HOURS_SHOWN_MAX = 96

const shown = new Intl.DateTimeFormat('en-GB', { dateStyle: 'short', timeStyle: 'short' })
const timeOf = (at: string) => shown.format(new Date(at))

/**
 * A histogram of dead letters by the hour in which they were dead-lettered. Its label gives screen readers the main
 * facts.
 */
function LetterHours({ hours }: { hours: Hours }) {
  const last = hours.at(-1)
  const worst = hours.toSorted((a, b) => b.count - a.count)[0]
  if (!last || !worst) return null
  const end = Date.parse(last.at)
  const recent = hours.filter(({ at }) => end - Date.parse(at) < HOURS_SHOWN_MAX * HOUR_MS)
  const first = Date.parse(recent[0]?.at ?? last.at)
  const width = ((end - first) / HOUR_MS + 1) * BAR
  const name = w.hours(timeOf(new Date(first).toISOString()), timeOf(last.at))
  return (
    <figure className={css.hours}>
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} height={HEIGHT} role="img" aria-label={name}>
        {recent.map(({ at, count }) => {
          const height = Math.max(2, (count / worst.count) * HEIGHT)
          const x = ((Date.parse(at) - first) / HOUR_MS) * BAR
          return (
            <rect key={at} x={x} y={HEIGHT - height} width={BAR - 2} height={height} fill="currentColor">
              <title>{w.hour(timeOf(at), formatNumber(count))}</title>
            </rect>
          )
        })}
      </svg>
      <figcaption>
        {name} {recent.length > 1 && w.worstHour(timeOf(worst.at), formatNumber(worst.count))}
      </figcaption>
    </figure>
  )
}
