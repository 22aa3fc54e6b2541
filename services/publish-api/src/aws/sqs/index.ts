/** The operations of Amazon SQS's API that are served, one group per file. */
import type { Operation } from '@fantail/aws-wire'
import type { ApiDeps } from '../../deps.ts'
import { handleOperations } from './message-handles.ts'
import { moveTaskOperations } from './move-tasks.ts'
import { permissionOperations } from './permissions.ts'
import { attributeOperations } from './queue-attribute-operations.ts'
import { tagOperations } from './queue-tags.ts'
import { queueOperations } from './queues.ts'
import { receiveOperation } from './receive-message.ts'
import { sendOperations } from './send-message.ts'

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
