/** A subscription by its name, or by its endpoint if it has none, as a link to its page. */
import { Link } from '@tanstack/react-router'
import { nameOf } from '../formats.ts'
import css from '../parts.module.css'

interface Props {
  id: string
  name: string | null | undefined
  endpoint: string | null | undefined
  /** Also shows the endpoint of a subscription with a name. It is the title in any case. */
  withEndpoint?: true
  /** The link opens its row of a table. */
  opensRow?: true
}

export function SubscriptionLink({ id, name, endpoint, withEndpoint, opensRow }: Props) {
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
