/** The name of what an ARN names, as a link to its page. The ARN is the title. */
import { Link } from '@tanstack/react-router'
import { words } from '../../i18n/en.ts'
import { nameOf } from '../formats.ts'

interface Props {
  arn: string
  /** An ARN of this account. Topics and queues of other accounts have no page, so their ARN is shown. */
  own: string
}

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
