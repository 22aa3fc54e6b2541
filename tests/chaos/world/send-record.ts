/**
 * Loaded into a worker before everything else. It records when each request to a throttled endpoint was sent, by the
 * monotonic clock that all processes of the machine share. A request counts when its head is written. If an attempt
 * repeats its request, each one counts. Each line: milliseconds, a space, the path.
 */
import { subscribe } from 'node:diagnostics_channel'
import { openSync, writeSync } from 'node:fs'

const file = process.env.CHAOS_SENDS
if (file) {
  const descriptor = openSync(file, 'a')
  // undici's channel: https://github.com/nodejs/undici/blob/main/docs/docs/api/DiagnosticsChannel.md
  subscribe('undici:client:sendHeaders', (message) => {
    const { path } = (message as { request: { path: string } }).request
    if (!path.startsWith('/throttled')) return
    writeSync(descriptor, `${Number(process.hrtime.bigint() / 1_000n) / 1_000} ${path}\n`)
  })
}
