/** Links to the pages of topics, queues and subscriptions. */
import { Link } from '@tanstack/react-router'
import { words } from '../i18n/en.ts'
import { nameOf } from './formats.ts'
import css from './parts.module.css'

interface Props {
  arn: string
  /** An ARN of this account. Topics and queues of other accounts have no page, so their ARN is shown. */
  own: string
}

/** The name of what an ARN names, as a link to its page. The ARN is the title. */
export function ArnLink({ arn, own }: Props) {
  if (placeOf(arn) !== placeOf(own)) return <code>{arn}</code>
  const [, , service, , , name = '', id] = arn.split(':')
  if (service === 'sqs') {
    return (
      <Link to="/queues/$queue" params={{ queue: name }} title={arn}>
        {name}
      </Link>
    )
  }
  // Platform endpoints, functions and streams have no page.
  if (service !== 'sns' || name.includes('/')) return <code>{arn}</code>
  return id === undefined ? (
    <Link to="/topics/$topic" params={{ topic: name }} title={arn}>
      {name}
    </Link>
  ) : (
    <Link to="/subs/$id" params={{ id }} title={arn}>
      {words.subscriptionOf(name)}
    </Link>
  )
}

/** Region and account. */
const placeOf = (arn: string) => arn.split(':').slice(3, 5).join(':')

export function TopicLink({ arn }: { arn: string }) {
  const topic = nameOf(arn)
  return (
    <Link to="/topics/$topic" params={{ topic }} title={arn}>
      {topic}
    </Link>
  )
}

interface SubscriptionLinkProps {
  id: string
  name: string | null | undefined
  endpoint: string | null | undefined
  /** Also shows the endpoint of a subscription with a name. It is the title in any case. */
  withEndpoint?: true
  /** The link opens its row of a table. */
  opensRow?: true
}

/** A subscription by its name, or by its endpoint if it has none, as a link to its page. */
export function SubscriptionLink({ id, name, endpoint, withEndpoint, opensRow }: SubscriptionLinkProps) {
  return (
    <>
      <Link
        to="/subs/$id"
        params={{ id }}
        className={css.address}
        title={endpoint ?? undefined}
        data-row={opensRow}
      >
        {endpoint ? subscriptionLabel({ name, endpoint }) : (name ?? id)}
      </Link>
      {withEndpoint && name && endpoint && <div className={`${css.quiet} ${css.small}`}>{endpoint}</div>}
    </>
  )
}

/** The name of a subscription. Without a name: its endpoint, or the last part of an endpoint that is an ARN. */
export function subscriptionLabel({
  name,
  endpoint,
}: {
  name?: string | null | undefined
  endpoint: string
}): string {
  return name ?? (endpoint.startsWith('arn:') ? nameOf(endpoint) : endpoint)
}
