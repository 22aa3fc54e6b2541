export { type BodySeals, sealingKeyOf } from './bodies.ts'
export {
  createMasterKeyText,
  type MasterKey,
  masterKeyBytes,
  parseMasterKey,
  parseWrappingKey,
  VaultError,
  WrappedKey,
  type WrappingKey,
  wrappedKeyText,
} from './master-key.ts'
export { createVault, type Vault } from './vault.ts'
