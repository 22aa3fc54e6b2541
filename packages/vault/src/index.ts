export {
  createMasterKeyText,
  createVault,
  type MasterKey,
  parseMasterKey,
  type Vault,
  VaultError,
} from './vault.ts'
