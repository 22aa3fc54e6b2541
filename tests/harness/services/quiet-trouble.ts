/** Measures whether processes spin while Redis refuses to work: CPU, commands, lines of log. */
import { cpuSeconds, redisFigure } from './process-figures.ts'
import type { Stack } from './stack.ts'

interface Effort {
  /** Share of a core that the busiest service used. */
  cpuShare: number
  /** Commands per second that all services together send to Redis. */
  commandsPerSecond: number
  /** The most lines of one kind (level warn or error) of one service. */
  linesMax: number
}

/** Begins to measure. The returned function ends it and returns the figures. */
export async function watchEffort(stack: Stack): Promise<() => Promise<Effort>> {
  const startedAt = performance.now()
  const services = stack.services()
  const cpu = () => services.map(({ pid }) => cpuSeconds(pid))
  const troubles = () => services.map((service) => service.logLines().filter(isTrouble))
  const commands = () => redisFigure(stack.connection, 'stats', 'total_commands_processed')
  const before = { cpu: cpu(), lines: troubles().map(({ length }) => length), commands: await commands() }
  return async () => {
    const seconds = (performance.now() - startedAt) / 1_000
    const used = cpu().map((now, i) => now - (before.cpu[i] ?? 0))
    const told = troubles().flatMap((lines, i) => [
      ...Map.groupBy(lines.slice(before.lines[i]), ({ msg }) => msg).values(),
    ])
    return {
      cpuShare: Math.max(...used) / seconds,
      commandsPerSecond: ((await commands()) - before.commands) / seconds,
      linesMax: Math.max(0, ...told.map(({ length }) => length)),
    }
  }
}

function isTrouble({ level }: { level: string }): boolean {
  return level === 'warn' || level === 'error'
}
