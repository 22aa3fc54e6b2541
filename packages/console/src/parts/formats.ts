/** Numbers, times and names as people read them. */

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 2 })

export function formatNumber(value: number): string {
  return whole.format(value)
}

const UNITS = [
  { seconds: 86_400, name: 'd' },
  { seconds: 3_600, name: 'h' },
  { seconds: 60, name: 'min' },
  { seconds: 1, name: 's' },
]

/** `4 min 12 s`: the two largest units. Times below 10 s have a fraction. */
export function formatSeconds(seconds: number): string {
  if (seconds < 10) return `${Number(seconds.toFixed(seconds < 1 ? 2 : 1))} s`
  const parts: string[] = []
  let rest = Math.round(seconds)
  for (const { seconds: size, name } of UNITS) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(`${count} ${name}`)
    else if (parts.length > 0) break
    if (parts.length === 2) break
  }
  return parts.join(' ')
}

/** `8.72 ms`, `166 ms`, `2.5 s`. */
export function formatMs(ms: number): string {
  return ms < 1_000 ? `${formatNumber(ms)} ms` : formatSeconds(ms / 1_000)
}

/** `in 12 s`, `3 min ago`, `now`. */
export function relativeTime(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1_000)
  if (seconds === 0) return 'now'
  const [largest] = formatSeconds(Math.max(seconds, 10)).split(/(?<=[a-z]) /)
  const text = seconds < 10 ? `${seconds} s` : largest
  return ms > 0 ? `in ${text}` : `${text} ago`
}

/** The last part of an ARN. */
export function nameOf(arn: string): string {
  return arn.slice(arn.lastIndexOf(':') + 1)
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`
  const kib = bytes / 1_024
  const [size, unit] =
    kib < 1_024 ? [kib, 'KiB'] : kib < 1_048_576 ? [kib / 1_024, 'MiB'] : [kib / 1_048_576, 'GiB']
  return `${formatNumber(Number(size.toFixed(1)))} ${unit}`
}
