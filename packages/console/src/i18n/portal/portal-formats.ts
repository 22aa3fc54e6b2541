/** Numbers and times as customers of a language and region write them. */

const SPANS = [
  { unit: 'day', ms: 86_400_000 },
  { unit: 'hour', ms: 3_600_000 },
  { unit: 'minute', ms: 60_000 },
  { unit: 'second', ms: 1_000 },
] as const

export interface PortalFormats {
  number(value: number): string
  /** `42 ms`, `1.5 sec`, `2 min`. */
  duration(ms: number): string
  /** `in 12 sec.`, `3 min. ago`, `yesterday`. */
  relative(ms: number): string
  /** Date and time of day, of a time in ISO 8601. */
  time(at: string): string
  /** The day of the week and of the month, of epoch ms. */
  day(ms: number): string
  dayOfWeek(ms: number): string
}

/** `locale`: a tag of BCP 47, such as `de-AT`. */
export function formatsIn(locale: string): PortalFormats {
  const whole = new Intl.NumberFormat(locale)
  const timeFormat = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' })
  const dayFormat = new Intl.DateTimeFormat(locale, { weekday: 'short', day: 'numeric', month: 'short' })
  const weekday = new Intl.DateTimeFormat(locale, { weekday: 'short' })
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' })
  const measured = (unit: string, maximumFractionDigits: number) =>
    new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits })
  const [millis, seconds, minutes] = [
    measured('millisecond', 0),
    measured('second', 1),
    measured('minute', 1),
  ]
  return {
    number: (value) => whole.format(value),
    duration: (ms) => {
      if (ms < 1_000) return millis.format(ms)
      return ms < 60_000 ? seconds.format(ms / 1_000) : minutes.format(ms / 60_000)
    },
    relative: (ms) => {
      const { unit, ms: size } = SPANS.find((span) => Math.abs(ms) >= span.ms) ?? SPANS[3]
      return relative.format(Math.trunc(ms / size), unit)
    },
    time: (at) => timeFormat.format(new Date(at)),
    day: (ms) => dayFormat.format(ms),
    dayOfWeek: (ms) => weekday.format(ms),
  }
}
