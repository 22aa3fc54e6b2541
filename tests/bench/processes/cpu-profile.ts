/** Reads a .cpuprofile of V8, and shows the time that was spent in each function itself. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[]
  samples: number[]
  timeDeltas: number[]
}

interface SelfTime {
  name: string
  /** Share of the busy time. */
  share: number
  ms: number
}

/** The functions with the most self time, and how long the process was busy. */
function selfTimes(file: string): { busyMs: number; functions: SelfTime[] } {
  const profile = JSON.parse(readFileSync(file, 'utf8')) as Profile
  const names = new Map(profile.nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]))
  const byName = new Map<string, number>()
  profile.samples.forEach((id, index) => {
    const name = names.get(id) ?? '?'
    byName.set(name, (byName.get(name) ?? 0) + (profile.timeDeltas[index] ?? 0) / 1_000)
  })
  byName.delete('(idle)')
  const busyMs = [...byName.values()].reduce((sum, ms) => sum + ms, 0)
  const functions = Array.from(byName, ([name, ms]) => ({ name, ms, share: ms / busyMs }))
  return { busyMs, functions: functions.sort((a, b) => b.ms - a.ms) }
}

function nameOf({ functionName, url, lineNumber }: Profile['nodes'][number]['callFrame']): string {
  const place = url.replace(/^.*\/node_modules\//, '').replace(/^.*\/((?:packages|services|tests)\/)/, '$1')
  return `${functionName || '(anonymous)'}${place ? ` ${place}:${lineNumber + 1}` : ''}`
}

function profileReport(file: string, top = 25): string {
  const { busyMs, functions } = selfTimes(file)
  const lines = functions
    .slice(0, top)
    .map(
      ({ name, share, ms }) =>
        `  ${(share * 100).toFixed(1).padStart(5)} % ${ms.toFixed(0).padStart(6)} ms  ${name}`,
    )
  return `${file}: busy ${busyMs.toFixed(0)} ms\n${lines.join('\n')}`
}

/** Reports of all profiles in a folder. */
export function profileReports(dir: string): string {
  const files = readdirSync(dir).filter((name) => name.endsWith('.cpuprofile'))
  return files.map((file) => profileReport(join(dir, file))).join('\n')
}
