/** The base of links that are handed out: as configured, else the origin that the caller used. */
import type { Settings } from '../deps.ts'
import type { ApiRequest } from './api-request.ts'

export function publicUrlFor(settings: Settings, request: ApiRequest): string {
  return settings.publicUrl?.replace(/\/+$/, '') ?? originOf(request.url)
}

function originOf(url: string): string {
  const path = url.indexOf('/', url.indexOf('://') + 3)
  return path < 0 ? url : url.slice(0, path)
}
