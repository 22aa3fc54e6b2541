/** The retry curve as a plot. The arrow keys lead from retry to retry, and a screen reader reads each one. */
import { useEffect, useRef, useState } from 'react'
import { words } from '../i18n/en.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { formatSeconds } from '../parts/formats.ts'
import parts from '../parts/parts.module.css'
import { Empty } from '../parts/states.tsx'
import type { CurvePoint } from './jitter-band.ts'
import css from './retry-curve.module.css'

const w = words.curve
const HEIGHT = 320
/** The plot is drawn in the width that it has, so that its texts keep their size. */
const WIDTH = { min: 260, max: 720 }
const EDGE = { left: 44, right: 16, top: 14, bottom: 34 }
/** Labels of the time axis: the width of one in pixels, and how many there are in a wide plot. */
const TICKS = { px: 90, most: 5 }

interface Scale {
  x: (seconds: number) => number
  y: (attempt: number) => number
  ticks: number[]
  attempts: number[]
}

interface Props {
  points: readonly CurvePoint[]
  isLogarithmic: boolean
  /** The form is not valid, so the plot shows the last valid policy. */
  isOld: boolean
}

export function RetryCurve({ points, isLogarithmic, isOld }: Props) {
  const { figure, width } = useWidth()
  const scale = scaleOf(points, isLogarithmic, width)
  const [at, setAt] = useState(0)
  const group = useRef<SVGGElement>(null)
  const selected = Math.min(at, points.length - 1)
  const move = (event: React.KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    const next = selected + step
    if (step === 0 || next < 0 || next >= points.length) return
    event.preventDefault()
    setAt(next)
    group.current?.querySelectorAll<SVGElement>('[data-point]')[next]?.focus()
  }
  return (
    <figure ref={figure} className={css.figure} data-old={isOld}>
      {/* biome-ignore lint/a11y/useSemanticElements: a plot is no part of a form */}
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} className={css.plot} role="group" aria-label={w.plot}>
        <Axes scale={scale} />
        <path className={css.outer} d={bandOf(points, scale, 'outer')} />
        <path className={css.core} d={bandOf(points, scale, 'core')} />
        <path className={css.line} d={lineOf(points, scale)} />
        <circle className={css.first} cx={scale.x(0)} cy={scale.y(1)} r={4} />
        {/* biome-ignore lint/a11y/noStaticElementInteractions: keys move between the points inside */}
        <g ref={group} onKeyDown={move}>
          {points.map((point, index) => (
            <Point
              key={point.retry}
              point={point}
              scale={scale}
              isSelected={index === selected}
              onFocus={() => setAt(index)}
            />
          ))}
        </g>
      </svg>
      <figcaption className={css.caption}>
        {points[selected] ? readOut(points[selected]) : w.noRetries}
      </figcaption>
    </figure>
  )
}

/** The width of the figure, as it is now. */
function useWidth() {
  const figure = useRef<HTMLElement>(null)
  const [width, setWidth] = useState(WIDTH.max)
  useEffect(() => {
    const element = figure.current
    if (!element) return
    const observer = new ResizeObserver(() =>
      setWidth(Math.max(WIDTH.min, Math.min(WIDTH.max, element.clientWidth))),
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return { figure, width }
}

interface PointProps {
  point: CurvePoint
  scale: Scale
  isSelected: boolean
  onFocus: () => void
}

function Point({ point, scale, isSelected, onFocus }: PointProps) {
  return (
    // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: arrow keys lead here, and it reads itself out
    <circle
      className={css.point}
      data-point
      data-phase={point.phase}
      data-selected={isSelected}
      cx={scale.x(point.atSeconds)}
      cy={scale.y(point.retry + 1)}
      r={4.5}
      role="img"
      aria-label={readOut(point)}
      tabIndex={isSelected ? 0 : -1}
      onFocus={onFocus}
      onMouseEnter={onFocus}
    />
  )
}

function readOut({ retry, phase, delaySeconds, atSeconds }: CurvePoint): string {
  return w.readOut(retry, w.phases[phase], formatSeconds(delaySeconds), formatSeconds(atSeconds))
}

function Axes({ scale }: { scale: Scale }) {
  const bottom = HEIGHT - EDGE.bottom
  return (
    <g className={css.axes}>
      {scale.ticks.map((tick) => (
        <g key={tick}>
          <line x1={scale.x(tick)} x2={scale.x(tick)} y1={EDGE.top} y2={bottom} />
          <text x={scale.x(tick)} y={bottom + 20} textAnchor="middle">
            {tick === 0 ? '0' : formatSeconds(tick)}
          </text>
        </g>
      ))}
      {scale.attempts.map((attempt) => (
        <text key={attempt} x={EDGE.left - 10} y={scale.y(attempt) + 4} textAnchor="end">
          {attempt}
        </text>
      ))}
    </g>
  )
}

function scaleOf(points: readonly CurvePoint[], isLogarithmic: boolean, whole: number): Scale {
  const longest = Math.max(1, ...points.map(({ outer, atSeconds }) => Math.max(outer[1], atSeconds)))
  const attempts = points.length + 1
  const width = whole - EDGE.left - EDGE.right
  const height = HEIGHT - EDGE.top - EDGE.bottom
  const ticks = Math.max(2, Math.min(TICKS.most, Math.floor(whole / TICKS.px)))
  const place = isLogarithmic
    ? (seconds: number) => Math.log1p(seconds) / Math.log1p(longest)
    : (seconds: number) => seconds / longest
  const back = isLogarithmic
    ? (share: number) => Math.expm1(share * Math.log1p(longest))
    : (share: number) => share * longest
  const step = Math.max(1, Math.ceil(attempts / 8))
  return {
    x: (seconds) => EDGE.left + place(seconds) * width,
    y: (attempt) => EDGE.top + (1 - (attempt - 1) / Math.max(1, attempts - 1)) * height,
    ticks: Array.from({ length: ticks }, (_, index) => back(index / (ticks - 1))),
    attempts: Array.from({ length: Math.ceil(attempts / step) }, (_, index) => 1 + index * step),
  }
}

/** A line of steps: the number of an attempt stays until the next attempt. */
function lineOf(points: readonly CurvePoint[], { x, y }: Scale): string {
  const steps = points.map(({ retry, atSeconds }) => `H${x(atSeconds)}V${y(retry + 1)}`)
  return `M${x(0)} ${y(1)}${steps.join('')}`
}

/** A band of steps: up along the earliest times, and back down along the latest times. */
function bandOf(points: readonly CurvePoint[], { x, y }: Scale, band: 'outer' | 'core'): string {
  const up = points.map((point) => `H${x(point[band][0])}V${y(point.retry + 1)}`)
  const down = points.map((point, index) => `V${y(point.retry)}H${x(points[index - 1]?.[band][1] ?? 0)}`)
  const latest = points.at(-1)?.[band][1] ?? 0
  return `M${x(0)} ${y(1)}${up.join('')}H${x(latest)}${down.toReversed().join('')}Z`
}

const range = ([from, to]: readonly [number, number]) => w.range(formatSeconds(from), formatSeconds(to))

const COLUMNS: readonly Column<CurvePoint>[] = [
  { title: w.retry, show: ({ retry }) => retry, isNumber: true },
  { title: w.phase, show: ({ phase }) => w.phases[phase] },
  { title: w.delay, show: ({ delaySeconds }) => formatSeconds(delaySeconds), isNumber: true },
  { title: w.at, show: ({ atSeconds }) => formatSeconds(atSeconds), isNumber: true },
  { title: w.core, show: ({ core }) => range(core), isNumber: true },
  { title: w.outer, show: ({ outer }) => range(outer), isNumber: true },
]

/** The plot as a table: the same data for people who cannot see the plot, and for copying. */
export function CurveTable({ points }: { points: readonly CurvePoint[] }) {
  return (
    <section className={parts.stack}>
      <h2>{w.table}</h2>
      <DataTable
        label={w.table}
        columns={COLUMNS}
        rows={points}
        keyOf={({ retry }) => String(retry)}
        empty={<Empty title={w.noRetries} />}
      />
    </section>
  )
}
