/** Lines over time, drawn by uPlot. Only this file uses uPlot. The browser loads it when the first chart is shown. */
import { useEffect, useRef, useState } from 'react'
import type uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useTheme } from '../shell/theme.ts'
import css from './time-series.module.css'

export interface Line {
  label: string
  values: readonly (number | null)[]
  /**
   * A name in time-series.module.css that stands for a colour and a pattern. The lines of a chart have different looks.
   */
  look: Look
}

type Look = 'published' | 'delivered' | 'failed' | 'dead' | 'median' | 'slowest'

interface Props {
  /** The chart in words, for people who cannot see it. */
  summary: string
  /** Epoch ms of each value. */
  at: readonly number[]
  lines: readonly Line[]
  /** Writes a value for the legend, and a shorter text for the axis. */
  format: (value: number) => string
  formatShort: (value: number) => string
  formatTime: (ms: number) => string
  isLogarithmic?: boolean
}

const HEIGHT = 190
/** The pattern has the same meaning as the colour. */
const DASHES: Record<Look, number[]> = {
  published: [6, 4],
  delivered: [],
  failed: [2, 3],
  dead: [9, 3, 2, 3],
  median: [],
  slowest: [6, 4],
}
/** Cursors of charts next to each other move together. */
const SYNC = 'fantail'

export function TimeSeries({ summary, isLogarithmic = false, ...data }: Props) {
  const { at, lines, format, formatTime } = data
  const frame = useRef<HTMLDivElement>(null)
  const legend = useRef<HTMLUListElement>(null)
  const plot = useRef<uPlot>(undefined)
  const [pointed, setPointed] = useState<number | null>(null)
  const shown = useRef(data)
  shown.current = data
  const shape = `${isLogarithmic} ${lines.map(({ look }) => look).join(' ')}`
  // `shape` describes the looks of the lines. The chart is made again if it changes. The next effect sets the data.
  useEffect(() => {
    const place = frame.current
    if (!place) return
    let isGone = false
    const watcher = new ResizeObserver(() => plot.current?.setSize(sizeOf(place)))
    void import('uplot').then(({ default: Plot }) => {
      if (isGone) return
      const options = optionsOf({ shown, legend, place, isLogarithmic, onPoint: setPointed })
      plot.current = new Plot(options, dataOf(shown.current), place)
      watcher.observe(place)
    })
    return () => {
      isGone = true
      watcher.disconnect()
      plot.current?.destroy()
      plot.current = undefined
    }
  }, [shape])
  useEffect(() => plot.current?.setData(dataOf({ at, lines })), [at, lines])
  useRedraw(plot)
  const step = pointed ?? at.length - 1
  return (
    <figure className={css.chart}>
      <div ref={frame} className={css.frame} role="img" aria-label={summary} />
      <ul ref={legend} className={css.legend}>
        {lines.map(({ label, look, values }) => {
          const value = values[step]
          return (
            <li key={look}>
              <span className={`${css.sample} ${css[look]}`} data-look={look} aria-hidden="true" />
              {label} <strong>{typeof value === 'number' ? format(value) : '–'}</strong>
            </li>
          )
        })}
        <li className={css.when}>{at[step] === undefined ? '' : formatTime(at[step])}</li>
      </ul>
    </figure>
  )
}

/** A canvas does not follow custom properties, so the chart is drawn again when they change. */
function useRedraw(plot: React.RefObject<uPlot | undefined>): void {
  const theme = useTheme()
  useEffect(() => plot.current?.redraw(), [theme])
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)')
    const redraw = () => plot.current?.redraw()
    dark.addEventListener('change', redraw)
    return () => dark.removeEventListener('change', redraw)
  }, [plot])
}

interface Drawn {
  shown: React.RefObject<Omit<Props, 'summary' | 'isLogarithmic'>>
  legend: React.RefObject<HTMLElement | null>
  place: HTMLElement
  isLogarithmic: boolean
  onPoint: (step: number | null) => void
}

function optionsOf({ shown, legend, place, isLogarithmic, onPoint }: Drawn): uPlot.Options {
  const colourOf = (look: Look) => {
    const sample = legend.current?.querySelector(`[data-look="${look}"]`)
    return sample ? getComputedStyle(sample).color : 'gray'
  }
  return {
    ...sizeOf(place),
    // The last label of the time axis is centred at the edge.
    padding: [8, 22, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, sync: { key: SYNC } },
    scales: {
      y: isLogarithmic ? { distr: 3, log: 10 } : { range: (_, __, max) => [0, Math.max(1, max * 1.05)] },
    },
    axes: axesOf({ shown, place, isLogarithmic }),
    series: [
      {},
      ...shown.current.lines.map(({ look }) => ({
        stroke: () => colourOf(look),
        width: 1.6,
        dash: DASHES[look],
        points: { show: alone, size: 4, fill: () => colourOf(look) },
      })),
    ],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
  }
}

function axesOf({ shown, place, isLogarithmic }: Omit<Drawn, 'legend' | 'onPoint'>): uPlot.Axis[] {
  const style = () => getComputedStyle(place)
  const grid = { stroke: () => style().borderTopColor, width: 1 }
  const axis = {
    stroke: () => style().color,
    grid,
    ticks: { show: false },
    font: `12px ${style().fontFamily}`,
  }
  const formatAll = (values: (number | null)[]) =>
    values.map((value) => (isNil(value) ? '' : shown.current.formatShort(value)))
  return [
    { ...axis, size: 28, space: 96, values: (_, at) => at.map((s) => shown.current.formatTime(s * 1_000)) },
    {
      ...axis,
      size: 58,
      grid: isLogarithmic ? { ...grid, filter: (_, values) => values.map(decadeOrNull) } : grid,
      values: (_, values) => formatAll(values),
    },
  ]
}

function decadeOrNull(value: number): number | null {
  const decade = Math.log10(value)
  return Math.abs(decade - Math.round(decade)) < 1e-6 ? value : null
}

const isNil = (value: number | null | undefined): value is null | undefined =>
  value === null || value === undefined

/** Shows a point for a value without neighbours, which would otherwise be invisible. */
const alone: uPlot.Series.Points.Show = (plot, series) => {
  const values = plot.data[series] ?? []
  return values.some((value, i) => !isNil(value) && isNil(values[i - 1]) && isNil(values[i + 1]))
}

function sizeOf(place: HTMLElement): { width: number; height: number } {
  return { width: Math.max(120, place.clientWidth), height: HEIGHT }
}

function dataOf({ at, lines }: Pick<Props, 'at' | 'lines'>): uPlot.AlignedData {
  return [at.map((ms) => ms / 1_000), ...lines.map(({ values }) => [...values])]
}
