/** Kills a service at a chosen command to Redis. */
import type { ServiceProcess } from '../services/service-process.ts'
import type { TcpProxy, Trap } from './tcp-proxy.ts'

/**
 * The service must connect to Redis through the proxy. At the chosen command the proxy stops all its connections. If
 * the kill comes late on a busy machine, the service therefore still cannot continue.
 */
export async function killAt(
  { proxy, service }: { proxy: TcpProxy; service: ServiceProcess },
  trap: Omit<Trap, 'silent'>,
): Promise<void> {
  await proxy.trap({ ...trap, silent: true }).then(() => proxy.mute())
  await service.kill()
  proxy.speak()
}
