export type { BodySeals } from './bodies.ts'
export {
  createMasterKeyText,
  createVault,
  type MasterKey,
  parseMasterKey,
  type Vault,
  VaultError,
} from './vault.ts'
