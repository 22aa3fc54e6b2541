/** The map of the console. Each screen is a file of its own, which is loaded when it is first opened. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  Link,
  lazyRouteComponent,
} from '@tanstack/react-router'
import { words } from './i18n/en.ts'
import { PageHead } from './parts/page-head.tsx'
import { Failed, Skeleton } from './parts/states.tsx'
import { Frame } from './shell/frame.tsx'
import { SessionGate } from './shell/session-gate.tsx'

const root = createRootRoute({ component: Guarded, notFoundComponent: NotFound })
const under = () => root

const topics = createRoute({
  getParentRoute: under,
  path: '/topics',
  validateSearch: texts('prefix'),
  component: lazyRouteComponent(() => import('./routes/topics/topics-page.tsx'), 'TopicsPage'),
})

const overview = createRoute({
  getParentRoute: under,
  path: '/',
  validateSearch: texts('range'),
  component: lazyRouteComponent(() => import('./routes/overview/overview-page.tsx'), 'OverviewPage'),
})
const topic = createRoute({
  getParentRoute: under,
  path: '/topics/$topic',
  validateSearch: texts('tab', 'range'),
  component: lazyRouteComponent(() => import('./routes/topics/topic-page.tsx'), 'TopicPage'),
})
const subscription = createRoute({
  getParentRoute: under,
  path: '/subs/$id',
  validateSearch: texts('tab', 'range'),
  component: lazyRouteComponent(
    () => import('./routes/subscriptions/subscription-page.tsx'),
    'SubscriptionPage',
  ),
})
const messages = createRoute({
  getParentRoute: under,
  path: '/messages',
  validateSearch: texts('topic', 'subscription', 'state', 'statusCode', 'within'),
  component: lazyRouteComponent(() => import('./routes/messages/messages-page.tsx'), 'MessagesPage'),
})
const message = createRoute({
  getParentRoute: under,
  path: '/messages/$id',
  validateSearch: texts('open'),
  component: lazyRouteComponent(() => import('./routes/messages/message-page.tsx'), 'MessagePage'),
})
const tail = createRoute({
  getParentRoute: under,
  path: '/tail',
  validateSearch: texts('topic', 'subscription', 'type', 'status'),
  component: lazyRouteComponent(() => import('./routes/tail/tail-page.tsx'), 'TailPage'),
})
const lanes = createRoute({
  getParentRoute: under,
  path: '/lanes',
  validateSearch: texts('q', 'sort', 'state', 'topic', 'by'),
  component: lazyRouteComponent(() => import('./routes/lanes/lanes-page.tsx'), 'LanesPage'),
})
const curve = createRoute({
  getParentRoute: under,
  path: '/subs/$id/curve',
  validateSearch: texts('log'),
  component: lazyRouteComponent(() => import('./routes/curve/curve-page.tsx'), 'CurvePage'),
})
const queues = createRoute({
  getParentRoute: under,
  path: '/queues',
  validateSearch: texts('prefix'),
  component: lazyRouteComponent(() => import('./routes/queues/queues-page.tsx'), 'QueuesPage'),
})
const queue = createRoute({
  getParentRoute: under,
  path: '/queues/$queue',
  validateSearch: texts('tab'),
  component: lazyRouteComponent(() => import('./routes/queues/queue-page.tsx'), 'QueuePage'),
})
const dlq = createRoute({
  getParentRoute: under,
  path: '/dlq',
  component: lazyRouteComponent(() => import('./routes/dead-letters/dlq-page.tsx'), 'DlqPage'),
})
const workbench = createRoute({
  getParentRoute: under,
  path: '/dlq/$queue',
  validateSearch: texts('reason', 'statusCode', 'subscription', 'topic', 'error', 'since'),
  component: lazyRouteComponent(() => import('./routes/dead-letters/workbench-page.tsx'), 'WorkbenchPage'),
})
const redrive = createRoute({
  getParentRoute: under,
  path: '/redrives/$id',
  component: lazyRouteComponent(() => import('./routes/dead-letters/redrive-page.tsx'), 'RedrivePage'),
})
const access = createRoute({
  getParentRoute: under,
  path: '/access',
  validateSearch: texts('tab', 'key', 'action', 'resource'),
  component: lazyRouteComponent(() => import('./routes/access/access-page.tsx'), 'AccessPage'),
})
const system = createRoute({
  getParentRoute: under,
  path: '/system',
  component: lazyRouteComponent(() => import('./routes/system/system-page.tsx'), 'SystemPage'),
})

const STARTS = [overview, lanes, topics, topic, subscription, curve, messages, message, tail] as const
const QUEUES = [queues, queue, dlq, workbench, redrive, access, system] as const

export function createConsoleRouter() {
  return createRouter({
    routeTree: root.addChildren([...STARTS, ...QUEUES]),
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
