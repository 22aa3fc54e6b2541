/** The map of the console. Each screen is a file of its own, which is loaded when it is first opened. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  Link,
  lazyRouteComponent,
  type RouteComponent,
} from '@tanstack/react-router'
import { words } from './i18n/en.ts'
import { PageHead } from './parts/page-head.tsx'
import { Failed, Skeleton } from './parts/states.tsx'
import { Frame } from './shell/frame.tsx'
import { SessionGate } from './shell/session-gate.tsx'

const root = createRootRoute({ component: Guarded, notFoundComponent: NotFound })

/** A screen. Its address may have these members; others are dropped. */
const screen = <const Path extends string, Name extends string = never>(
  path: Path,
  members: readonly Name[],
  component: RouteComponent,
) => createRoute({ getParentRoute: () => root, path, validateSearch: texts(...members), component })

const topics = screen(
  '/topics',
  ['prefix'],
  lazyRouteComponent(() => import('./routes/topics/topics-page.tsx'), 'TopicsPage'),
)
const overview = screen(
  '/',
  ['range'],
  lazyRouteComponent(() => import('./routes/overview/overview-page.tsx'), 'OverviewPage'),
)
const topic = screen(
  '/topics/$topic',
  ['tab', 'range'],
  lazyRouteComponent(() => import('./routes/topics/topic-page.tsx'), 'TopicPage'),
)
const subscription = screen(
  '/subs/$id',
  ['tab', 'range'],
  lazyRouteComponent(() => import('./routes/subscriptions/subscription-page.tsx'), 'SubscriptionPage'),
)
const messages = screen(
  '/messages',
  ['topic', 'subscription', 'state', 'statusCode', 'within', 'by', 'text', 'type', 'prefix', 'metadata'],
  lazyRouteComponent(() => import('./routes/messages/messages-page.tsx'), 'MessagesPage'),
)
const message = screen(
  '/messages/$id',
  ['open'],
  lazyRouteComponent(() => import('./routes/messages/message-page.tsx'), 'MessagePage'),
)
const tail = screen(
  '/tail',
  ['topic', 'subscription', 'type', 'status'],
  lazyRouteComponent(() => import('./routes/tail/tail-page.tsx'), 'TailPage'),
)
const lanes = screen(
  '/lanes',
  ['q', 'sort', 'state', 'topic', 'host', 'by'],
  lazyRouteComponent(() => import('./routes/lanes/lanes-page.tsx'), 'LanesPage'),
)
const curve = screen(
  '/subs/$id/curve',
  ['log'],
  lazyRouteComponent(() => import('./routes/curve/curve-page.tsx'), 'CurvePage'),
)
const queues = screen(
  '/queues',
  ['prefix'],
  lazyRouteComponent(() => import('./routes/queues/queues-page.tsx'), 'QueuesPage'),
)
const queue = screen(
  '/queues/$queue',
  ['tab'],
  lazyRouteComponent(() => import('./routes/queues/queue-page.tsx'), 'QueuePage'),
)
const dlq = screen(
  '/dlq',
  [],
  lazyRouteComponent(() => import('./routes/dead-letters/dlq-page.tsx'), 'DlqPage'),
)
const workbench = screen(
  '/dlq/$queue',
  ['reason', 'statusCode', 'subscription', 'topic', 'error', 'since', 'letter'],
  lazyRouteComponent(() => import('./routes/dead-letters/workbench-page.tsx'), 'WorkbenchPage'),
)
const redrive = screen(
  '/redrives/$id',
  [],
  lazyRouteComponent(() => import('./routes/dead-letters/redrive-page.tsx'), 'RedrivePage'),
)
const bulkTasks = screen(
  '/bulk',
  [],
  lazyRouteComponent(() => import('./routes/bulk/bulk-page.tsx'), 'BulkTasksPage'),
)
const bulk = screen(
  '/bulk/$id',
  [],
  lazyRouteComponent(() => import('./routes/bulk/bulk-page.tsx'), 'BulkPage'),
)
const access = screen(
  '/access',
  ['tab', 'key', 'action', 'resource'],
  lazyRouteComponent(() => import('./routes/access/access-page.tsx'), 'AccessPage'),
)
const system = screen(
  '/system',
  [],
  lazyRouteComponent(() => import('./routes/system/system-page.tsx'), 'SystemPage'),
)

const STARTS = [overview, lanes, topics, topic, subscription, curve, messages, message, tail] as const
const QUEUES = [queues, queue, dlq, workbench, redrive] as const
const OTHERS = [bulkTasks, bulk, access, system] as const

export function createConsoleRouter() {
  return createRouter({
    routeTree: root.addChildren([...STARTS, ...QUEUES, ...OTHERS]),
    basepath: '/console',
    defaultPreload: 'intent',
    defaultPendingComponent: Skeleton,
    defaultErrorComponent: Crashed,
    scrollRestoration: true,
  })
}

/** Keeps these members of an address if they are text, and drops all others. */
function texts<Name extends string>(...names: Name[]) {
  return (search: Record<string, unknown>) =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name]
        return typeof value === 'string' && value !== '' ? [[name, value]] : []
      }),
    ) as { [name in Name]?: string }
}

function Guarded() {
  return (
    <SessionGate>
      <Frame />
    </SessionGate>
  )
}

function NotFound() {
  return (
    <>
      <PageHead title={words.shell.notFound} />
      <Link to="/">{words.shell.toOverview}</Link>
    </>
  )
}

function Crashed({ error, reset }: ErrorComponentProps) {
  return (
    <>
      <PageHead title={words.shell.crashed} />
      <Failed error={error} onRetry={reset} />
    </>
  )
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>
  }
}
