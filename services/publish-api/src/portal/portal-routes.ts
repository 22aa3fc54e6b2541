/** All routes of portal sessions. If keys are not required, there are no sessions. */
import type { ApiDeps } from '../deps/api-deps.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { portalEndpointRoutes } from './portal-endpoint-routes.ts'
import { portalHistoryRoutes } from './portal-history-routes.ts'
import { portalListRoutes } from './portal-list-routes.ts'

export function portalRoutes(deps: ApiDeps): Endpoint[] {
  const routes = [...portalListRoutes(deps), ...portalEndpointRoutes(deps), ...portalHistoryRoutes(deps)]
  return routes.map((route) => ({
    ...route,
    errors: [...new Set([...route.errors, 'not_supported' as const])],
  }))
}
