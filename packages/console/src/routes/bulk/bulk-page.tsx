/** A task that acts on many: its progress, what failed, and its undo. It goes on when this page is closed. */
import type { BulkTask } from '@fantail/client/api'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { callOf, operations } from '../../api/api-calls.ts'
import { useRead, useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { type Column, ReadTable } from '../../parts/data-table.tsx'
import { Gone, PageHead, useTitle } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { Badge, Figure, Figures, type Tone, When } from '../../parts/show.tsx'
import { Empty, Failed, Loaded } from '../../parts/states.tsx'
import { Failures } from './failures.tsx'

const w = words.bulk
const route = getRouteApi('/bulk/$id')
const LIVE_MS = 1_000

const TONES: Record<BulkTask['status'], Tone> = {
  planned: undefined,
  running: 'good',
  canceling: 'warn',
  canceled: 'warn',
  completed: 'good',
}

export function BulkPage() {
  const { id } = route.useParams()
  const input = { path: { id } }
  const read = useRead(operations.getBulkTask, input, { everyMs: LIVE_MS })
  useTitle(read.data?.words, words.pages.bulk)
  return (
    <Loaded
      read={read}
      rows={3}
      gone={
        <Gone title={w.gone}>
          <Link to="/bulk">{words.pages.bulkTasks}</Link>
        </Gone>
      }
    >
      {(task) => (
        <>
          <PageHead
            title={task.words}
            above={<Link to="/bulk">{words.pages.bulkTasks}</Link>}
            status={<Badge tone={TONES[task.status]}>{w.statuses[task.status]}</Badge>}
            request={callOf(operations.getBulkTask, input)}
          />
          <div className={css.stack}>
            <Progress task={task} />
            {task.failed > 0 && <Failures title={w.failed(task.failed)} failures={task.failures} />}
            <Controls key={task.id} task={task} />
          </div>
        </>
      )}
    </Loaded>
  )
}

function Progress({ task }: { task: BulkTask }) {
  const { total, done, failed, results, startedAt, endedAt } = task
  const percent = total === 0 ? 100 : Math.round((done / total) * 100)
  return (
    <section className={`${css.panel} ${css.stack}`}>
      <div
        className={css.bar}
        role="progressbar"
        aria-label={task.words}
        aria-valuenow={percent}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <span style={{ width: `${percent}%` }} />
      </div>
      <Figures>
        <Figure label={w.done} value={w.of(done, total)} />
        {Object.entries(results).map(([name, count]) => (
          <Figure key={name} label={w.results[name] ?? name} value={count} />
        ))}
        <Figure label={words.failed} value={failed} />
        {startedAt && <Figure label={words.redrive.started} value={<When at={startedAt} />} />}
        {endedAt && <Figure label={words.message.ended} value={<When at={endedAt} />} />}
      </Figures>
    </section>
  )
}

function Controls({ task: { id, status, canUndo, undoes, undoneBy } }: { task: BulkTask }) {
  const cancel = useWrite(operations.cancelBulkTask)
  const undo = useWrite(operations.undoBulkTask)
  const navigate = useNavigate()
  const path = { id }
  const error = cancel.error ?? undo.error
  const open = (next: string) => void navigate({ to: '/bulk/$id', params: { id: next } })
  const other = undoneBy ?? undoes
  return (
    <div className={css.stack}>
      <div className={css.row}>
        {status === 'running' && <Button onPress={() => cancel.mutate({ path })}>{words.cancel}</Button>}
        {canUndo && (
          <Button
            kind="primary"
            isDisabled={undo.isPending}
            onPress={() => undo.mutate({ path }, { onSuccess: (made) => open(made.id) })}
          >
            {w.undo}
          </Button>
        )}
        {status === 'completed' && (
          <Link to="/lanes" search={{ state: 'inNeed' }}>
            {w.stillInNeed}
          </Link>
        )}
        {other && (
          <Link to="/bulk/$id" params={{ id: other }}>
            {undoneBy ? w.undone : w.undoes}
          </Link>
        )}
      </div>
      {error && <Failed error={error} />}
    </div>
  )
}

const COLUMNS: readonly Column<BulkTask>[] = [
  {
    title: words.pages.bulk,
    show: ({ id, words: said }) => (
      <Link to="/bulk/$id" params={{ id }} data-row>
        {said}
      </Link>
    ),
  },
  {
    title: w.status,
    show: ({ status }) => <Badge tone={TONES[status]}>{w.statuses[status]}</Badge>,
  },
  { title: w.done, show: ({ done, total }) => w.of(done, total), isNumber: true },
  { title: words.failed, show: ({ failed }) => failed, isNumber: true },
  { title: words.redrive.started, show: ({ startedAt }) => <When at={startedAt} /> },
]

export function BulkTasksPage() {
  const input = { query: { limit: 50 } }
  const read = useRead(operations.listBulkTasks, input)
  return (
    <>
      <PageHead title={words.pages.bulkTasks} request={callOf(operations.listBulkTasks, input)} />
      <ReadTable
        read={read}
        label={words.pages.bulkTasks}
        columns={COLUMNS}
        rowsOf={({ tasks }) => tasks}
        keyOf={({ id }) => id}
        empty={<Empty title={w.none}>{w.noneWhy}</Empty>}
      />
    </>
  )
}
