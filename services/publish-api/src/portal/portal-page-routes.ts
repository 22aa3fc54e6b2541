/**
 * The page of the portal. Everybody may load it, because it contains no data. Pages of the listed origins may show it
 * in a frame; no other page may.
 */
import { join } from 'node:path'
import { builtFolder, createConsoleFiles } from '../console/console-files.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { type Answer, type Endpoint, endpoint } from '../http/endpoint.ts'

const TO_PORTAL: Answer = { status: 303, text: '', headers: { Location: '/portal/' } }

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
      errors: [],
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
