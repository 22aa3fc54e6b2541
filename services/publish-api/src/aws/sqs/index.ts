/** The supported operations of Amazon SQS, one group per file. */
import type { Operation } from '@fantail/aws-wire'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { handleOperations } from './messages/message-handles.ts'
import { receiveOperation } from './messages/receive-message.ts'
import { sendOperations } from './messages/send-message.ts'
import { moveTaskOperations } from './move-tasks/move-tasks.ts'
import { attributeOperations } from './queues/queue-attribute-operations.ts'
import { queueOperations } from './queues/queue-operations.ts'
import { permissionOperations } from './queues/queue-permissions.ts'
import { tagOperations } from './queues/queue-tags.ts'

export function sqsOperations(deps: ApiDeps): Operation[] {
  return [
    ...queueOperations(deps),
    ...attributeOperations(deps),
    ...tagOperations(deps),
    ...permissionOperations(deps),
    ...moveTaskOperations(deps),
    ...sendOperations(deps),
    receiveOperation(deps),
    ...handleOperations(deps),
  ]
}
