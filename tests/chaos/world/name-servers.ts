/** Loaded into a worker before everything else. It replaces the system's name servers by CHAOS_NAME_SERVER. */
import dns from 'node:dns/promises'
import { syncBuiltinESMExports } from 'node:module'

const { CHAOS_NAME_SERVER: server } = process.env
if (server) replaceBy(server)

function replaceBy(address: string): void {
  dns.Resolver = class extends dns.Resolver {
    constructor(...options: ConstructorParameters<typeof dns.Resolver>) {
      super(...options)
      this.setServers([address])
    }
  }
  syncBuiltinESMExports()
}
