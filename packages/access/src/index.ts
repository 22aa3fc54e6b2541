export { Access, isOf, isVisible, type Target } from './access.ts'
export { type AuditLog, auditLog, reportChange } from './audit.ts'
export { bearerOf, type KnownKey, keyOfToken } from './bearer.ts'
export {
  type Caller,
  type Key,
  keyOf,
  needAllNames,
  needNames,
  needScope,
  needServer,
  principalOf,
  seesBodies,
} from './caller.ts'
export { Cursors } from './cursors.ts'
export { keyView, makeKey, type NewKey, type Shown } from './make-key.ts'
