/**
 * The base of links in answers and messages is FANTAIL_PUBLIC_URL. If it is not set, callers with a key get the origin
 * that they used. So do all callers in local mode, which answers only to host names of this machine. Other callers of
 * server mode, such as people who follow a link, must not choose the base. They get the machine's own address.
 */
import type { Caller } from '@fantail/access'
import type { ApiSettings } from '@fantail/config'
import type { ApiRequest } from './api-request.ts'

type Settings = Pick<ApiSettings, 'publicUrl' | 'mode' | 'tlsCertFile' | 'port'>

interface Asked {
  request: Pick<ApiRequest, 'url'>
  caller: Caller
}

/** Without a slash at its end. */
export function publicUrlFor(settings: Settings, { request, caller }: Asked): string {
  const { publicUrl, mode } = settings
  if (publicUrl !== undefined) return publicUrl.replace(/\/+$/, '')
  return caller !== null || mode === 'local' ? originOf(request.url) : loopbackOrigin(settings)
}

/** Host and port of a URL, as they are written in it. */
export function authorityOf(url: string): string {
  return originOf(url).slice(url.indexOf('://') + 3)
}

function originOf(url: string): string {
  const path = url.indexOf('/', url.indexOf('://') + 3)
  return path < 0 ? url : url.slice(0, path)
}

function loopbackOrigin({ tlsCertFile, port }: Settings): string {
  return `${tlsCertFile === undefined ? 'http' : 'https'}://localhost:${port}`
}
