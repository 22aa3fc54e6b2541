/** Settings of topics, queues and subscriptions, as their commands take them. */
import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'
import { collect, readObject, readPairs, readRate } from './command-input.ts'

export interface SettingsFlags {
  set?: string[]
  from?: string
}

/** `--set` and `--from` reach every setting of the API, also those without a flag of their own. */
export function withSettings(command: Command): Command {
  return command
    .option('--set <name=value>', 'a setting of the API: name=text or name:=JSON (again for more)', collect)
    .option('--from <json>', 'all settings as a JSON object, @FILE, or - for stdin')
}

export async function readSettings(
  { set = [], from }: SettingsFlags,
  context: CommandContext,
): Promise<Record<string, unknown>> {
  const given = from === undefined ? {} : await readObject(from, '--from', context)
  return { ...given, ...readPairs(set, '--set') }
}

export interface PolicyFlags {
  curve?: string
  rate?: string
  policy?: string
}

export function withPolicy(command: Command): Command {
  return command
    .option('--curve <preset>', 'the retry curve: quick, steady, patient (`fantail curve`)')
    .option('--rate <rate>', 'requests to an endpoint at most: 20/s, 600/m')
    .option('--policy <json>', 'the whole delivery policy as JSON, @FILE, or - for stdin')
}

/** The member `deliveryPolicy`, if a flag sets it. */
export async function readPolicy(
  { curve, rate, policy }: PolicyFlags,
  context: CommandContext,
): Promise<object> {
  if (curve === undefined && rate === undefined && policy === undefined) return {}
  const given = policy === undefined ? {} : await readObject(policy, '--policy', context)
  return {
    deliveryPolicy: {
      ...given,
      ...(curve !== undefined && { healthyRetryPolicy: { preset: curve } }),
      ...(rate !== undefined && { throttlePolicy: { maxReceivesPerSecond: readRate(rate, '--rate') } }),
    },
  }
}
