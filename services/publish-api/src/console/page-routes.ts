/**
 * Routes of the files of console and portal. Everybody may load these files, because they contain no data and no
 * secrets. The page gets its data from the API, with the rights of its user. The OpenAPI document does not have these
 * routes, because programs do not use them.
 */
import { join } from 'node:path'
import type { ApiDeps } from '../deps/api-deps.ts'
import { type Answer, type Endpoint, endpoint } from '../http/endpoint.ts'
import { builtFolder, createConsoleFiles } from './console-files.ts'

const TO_CONSOLE: Answer = { status: 303, text: '', headers: { Location: '/console/' } }

export function consoleRoutes({
  settings,
  consoleFolder,
}: Pick<ApiDeps, 'settings' | 'consoleFolder'>): Endpoint[] {
  if (settings.console === 'off') return []
  const files = createConsoleFiles(consoleFolder)
  const route = (own: Pick<Endpoint, 'id' | 'path' | 'where' | 'summary' | 'handle'>) =>
    endpoint({
      ...own,
      method: 'GET',
      // The page in the browser reads the query. The API ignores it.
      queryIs: 'own',
      tag: 'Service',
      description: 'A file for browsers.',
      answers: { 200: { description: 'The file', contentType: 'text/html' } },
    })
  const page = () => files.page()
  return [
    route({
      id: 'leadToConsole',
      path: '/console',
      summary: 'Leads to the console',
      handle: () => TO_CONSOLE,
    }),
    route({ id: 'getConsole', path: '/console/', summary: 'The console', handle: page }),
    route({
      id: 'getConsoleFile',
      path: '/console/assets/{file}',
      summary: 'A script or style of the console',
      handle: ({ params, request }) => files.file(params.file ?? '', request.header('accept-encoding')),
    }),
    route({
      id: 'getConsolePage',
      path: '/console/{page}',
      where: { page: '.+' },
      summary: 'A page of the console',
      handle: page,
    }),
  ]
}

const TO_PORTAL: Answer = { status: 303, text: '', headers: { Location: '/portal/' } }

/** Pages of the listed origins may show the portal in a frame; no other page may. */
export function portalPageRoutes({
  settings: { portalOrigins = [] },
  consoleFolder,
}: Pick<ApiDeps, 'settings' | 'consoleFolder'>): Endpoint[] {
  const folder = join(consoleFolder ?? builtFolder(), 'portal')
  const files = createConsoleFiles(folder, { page: 'portal.html', frameOrigins: portalOrigins })
  const route = (own: Pick<Endpoint, 'id' | 'path' | 'summary' | 'handle'>) =>
    endpoint({
      ...own,
      method: 'GET',
      queryIs: 'own',
      tag: 'Portal',
      description: 'A file for browsers.',
      answers: { 200: { description: 'The file', contentType: 'text/html' } },
    })
  return [
    route({ id: 'leadToPortal', path: '/portal', summary: 'Leads to the portal', handle: () => TO_PORTAL }),
    route({
      id: 'getPortal',
      path: '/portal/',
      summary: 'The portal',
      handle: () => files.page(),
    }),
    route({
      id: 'getPortalFile',
      path: '/portal/assets/{file}',
      summary: 'A script or style of the portal',
      handle: ({ params, request }) => files.file(params.file ?? '', request.header('accept-encoding')),
    }),
  ]
}
