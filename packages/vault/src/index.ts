export { createMasterKeyText, type MasterKey, parseMasterKey } from './master-key.ts'
export { createVault, type Vault, VaultError } from './vault.ts'
