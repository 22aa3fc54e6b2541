/** Publish with a PhoneNumber, or with the TargetArn of a platform endpoint (checklist 371, 398). */
import { type AwsCall, AwsError, type AwsInput } from '@fantail/aws-wire'
import { MESSAGE_BYTES_MAX, parsePlatformEndpointArn } from '@fantail/contracts'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import {
  type DirectTarget,
  endpointTarget,
  numberTarget,
  TargetRefusal,
} from '../../../direct/direct-targets.ts'
import { publishDirect } from '../../../direct/publish-direct.ts'
import type { MessageStore } from '../../../messages/message-store.ts'
import { invalidParameter } from '../wire/sns-parameters.ts'
import { checkGroup, checkStructure, ofTopic, readMessage } from './read-message.ts'
import { readAttributes } from './sns-message-attributes.ts'

type TargetName = 'PhoneNumber' | 'TargetArn'

interface ToTarget {
  call: AwsCall
  name: TargetName
  /** Monotonic ms. */
  startedAt: number
}

export async function publishToTarget(
  tools: { deps: ApiDeps; store: MessageStore },
  input: AwsInput,
  { call, name, startedAt }: ToTarget,
) {
  const given = String(input[name])
  const { requestId, origin: publicUrl, traceHeader } = call
  const { message, bytes } = readMessage(input, readAttributes(input.MessageAttributes))
  checkGroup(input)
  if (bytes > MESSAGE_BYTES_MAX) throw invalidParameter('Message too long')
  try {
    const target = await targetOf(tools.deps, name, given, call)
    checkStructure(input, keysOf(given))
    const wanted = { target, message, bytes, publicUrl, traceHeader, requestId, startedAt }
    const { messageId } = await ofTopic(() => publishDirect(tools, wanted))
    return { MessageId: messageId }
  } catch (error) {
    throw error instanceof TargetRefusal ? refusalOf(error, name, given) : error
  }
}

/** Members of a JSON message that may be there instead of `default`. */
function keysOf(target: string): readonly string[] {
  const platform = parsePlatformEndpointArn(target)?.platform
  return platform === undefined ? ['sms'] : [platform, 'application']
}

/**
 * Without keys, an access key id may be any account. Topics for numbers then belong to the server's own account, so
 * that callers cannot make ever more of them.
 */
async function targetOf(
  deps: ApiDeps,
  name: TargetName,
  given: string,
  { account, principal }: AwsCall,
): Promise<DirectTarget> {
  if (name === 'TargetArn') return endpointTarget(deps, given)
  return numberTarget(deps, given, principal === undefined ? deps.settings.arn.account : account)
}

function refusalOf({ reason, message }: TargetRefusal, name: TargetName, given: string): AwsError {
  switch (reason) {
    case 'badNumber':
      return invalidParameter(`${name} Reason: ${given} is not valid to publish to`)
    case 'endpointDisabled':
      return new AwsError('EndpointDisabled', message)
    case 'applicationDisabled':
      return new AwsError('PlatformApplicationDisabled', message)
    case 'text':
      return invalidParameter(`Message Reason: ${message}`)
    default:
      return invalidParameter(`${name} Reason: ${message}`)
  }
}
