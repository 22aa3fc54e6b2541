/** Durations as people type and read them: `30s`, `5m`, `1h 20m`. */
import { CommandError } from './exit-codes.ts'

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Milliseconds of `250ms`, `30s`, `5m`, `2h`, `7d`. A number without a unit is seconds. */
export function parseDuration(text: string, option: string): number {
  const [, number = '', unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text.trim()) ?? []
  if (number === '') {
    throw new CommandError('usage', `${option} must be a time such as 30s, 5m or 24h, not ${text}`)
  }
  return Number(number) * UNITS[unit as keyof typeof UNITS]
}

/** `12 ms`, `4.2 s`, `3 m 20 s`, `2 h 5 m`, `3 d 4 h`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${Number((ms / 1_000).toFixed(1))} s`
  const seconds = Math.round(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return pair(seconds, 60, 'm', 's')
  const minutes = Math.round(seconds / 60)
  return minutes < 1_440 ? pair(minutes, 60, 'h', 'm') : pair(Math.round(minutes / 60), 24, 'd', 'h')
}

function pair(total: number, size: number, large: string, small: string): string {
  const rest = total % size
  return `${Math.floor(total / size)} ${large}${rest === 0 ? '' : ` ${rest} ${small}`}`
}

/** The time of `--since` in ISO 8601. The text is such a time, or says how long ago it was (`10m`). */
export function timeOf(text: string, option: string, now = Date.now()): string {
  if (/^\d+(\.\d+)?(ms|s|m|h|d)?$/.test(text.trim())) {
    return new Date(now - parseDuration(text, option)).toISOString()
  }
  const time = Date.parse(text)
  if (!Number.isNaN(time)) return new Date(time).toISOString()
  throw new CommandError('usage', `${option} must be a time of ISO 8601, or one ago such as 10m, not ${text}`)
}
