/**
 * Steps of an import that set secrets of subscriptions, such as signing keys. The document must not have them, because
 * people read it.
 */
import { sideBySide } from '@fantail/store'
import type { CommandContext } from '../../../frame/command-context.ts'
import { failureText } from '../../../frame/failure-text.ts'
import { ApiRefusal, CommandError } from '../../../output/exit-codes.ts'
import { CHANGES_AT_ONCE, type ShownStep, showStep } from '../../service/state-steps.ts'

export interface SecretStep {
  shown: ShownStep
  set(): Promise<void>
}

/** One that is refused does not keep back the others. Returns whether all were set. */
export async function setSecrets(context: CommandContext, steps: readonly SecretStep[]): Promise<boolean> {
  const areSet = await sideBySide(steps, CHANGES_AT_ONCE, async ({ shown, set }) => {
    try {
      await set()
      showStep(context, shown)
      return true
    } catch (error) {
      if (!(error instanceof ApiRefusal || error instanceof CommandError)) throw error
      context.out.warn(`${shown.act} ${shown.kind} ${shown.name}: ${failureText(error)}`)
      return false
    }
  })
  return areSet.every((isSet) => isSet)
}
