/** The event type of a message and a line of what it says, by which people recognise it. Without them, its id. */
import css from './parts.module.css'
import { Badge } from './show.tsx'

interface Props {
  eventType: string | null
  /** The API has made it printable. */
  line: string | null
  id: string
}

export function MessageLine({ eventType, line, id }: Props) {
  const shown = line || id
  return (
    <span className={css.said} title={shown}>
      {eventType !== null && <Badge>{eventType}</Badge>}
      <span className="mono">{shown}</span>
    </span>
  )
}
