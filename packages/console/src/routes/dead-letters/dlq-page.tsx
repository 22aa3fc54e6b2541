/** Every queue that takes dead letters, the fullest first. */
import type { Queue } from '@fantail/client/api'
import { Link } from '@tanstack/react-router'
import { callOf, operations } from '../../api/api-calls.ts'
import { usePages } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { type Column, ReadTable } from '../../parts/data-table.tsx'
import { formatNumber, formatSeconds } from '../../parts/formats.ts'
import { TopicLink } from '../../parts/links.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Empty } from '../../parts/states.tsx'
import { lettersIn, takesDeadLetters } from '../queues/dead-letter-queues.ts'

const w = words.deadLetters

const COLUMNS: readonly Column<Queue>[] = [
  {
    title: words.pages.queue,
    show: ({ name }) => (
      <Link to="/dlq/$queue" params={{ queue: name }} data-row>
        {name}
      </Link>
    ),
  },
  { title: w.letters, show: (queue) => formatNumber(lettersIn(queue)), isNumber: true },
  {
    title: words.topic.oldest,
    show: ({ oldestSeconds }) => (oldestSeconds === null ? '–' : formatSeconds(oldestSeconds)),
    isNumber: true,
  },
  { title: w.fedBy, show: ({ deadLetterSources }) => deadLetterSources.length, isNumber: true },
  { title: words.pages.topics, show: topicsOf },
]

/** Topics of the subscriptions whose dead letters go there. */
function topicsOf({ deadLetterSources }: Queue) {
  const arns = deadLetterSources.filter((arn) => arn.split(':')[2] === 'sns')
  const topics = [...new Set(arns.map((arn) => arn.split(':').slice(0, 6).join(':')))]
  if (topics.length === 0) return '–'
  return topics.map((arn) => (
    <div key={arn}>
      <TopicLink arn={arn} />
    </div>
  ))
}

export function DlqPage() {
  const input = { query: { limit: 100 } }
  const read = usePages(operations.listQueues, input)
  return (
    <>
      <PageHead title={words.pages.deadLetters} request={callOf(operations.listQueues, input)} />
      <ReadTable
        read={read}
        label={words.pages.deadLetters}
        columns={COLUMNS}
        rowsOf={({ pages }) =>
          pages
            .flatMap((page) => page.queues)
            .filter(takesDeadLetters)
            .toSorted((a, b) => lettersIn(b) - lettersIn(a))
        }
        keyOf={({ arn }) => arn}
        empty={<Empty title={w.noQueues}>{w.noQueuesWhy}</Empty>}
      />
    </>
  )
}
