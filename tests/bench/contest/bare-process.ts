/**
 * Sends with undici's `request` in a loop, without a queue. This shows the highest rate of one process with this
 * client. A delivery without a 2xx answer is lost.
 */
import { Pool } from 'undici'
import { answer, type LoadOptions, type LoadResult } from '../processes/ipc.ts'
import { monotonicMs } from '../processes/monotonic.ts'
import { numberedText } from '../processes/sequence.ts'

const HEADERS = { 'content-type': 'text/plain; charset=UTF-8' }

async function load(options: LoadOptions): Promise<LoadResult> {
  const { port, paths, connections, durationMs, requestsMax, bodyBytes } = options
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections })
  const startedAt = monotonicMs()
  const until = performance.now() + durationMs
  let sent = 0
  let accepted = 0
  const loop = async () => {
    while (performance.now() < until && sent < requestsMax) {
      const number = sent++
      const path = paths[number % paths.length] ?? '/'
      const body = numberedText(Math.floor(number / paths.length), bodyBytes)
      const answered = await pool.request({ path, method: 'POST', headers: HEADERS, body })
      await answered.body.dump()
      if (answered.statusCode < 300) accepted++
    }
  }
  await Promise.all(Array.from({ length: connections }, loop))
  const endedAt = monotonicMs()
  await pool.close()
  return { accepted, refused: sent - accepted, startedAt, endedAt, p50Ms: Number.NaN, p99Ms: Number.NaN }
}

answer({ load })
