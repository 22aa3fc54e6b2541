/** Killing a service at an instant of its traffic with Redis. */
import type { ServiceProcess } from '../services/service-process.ts'
import type { TcpProxy, Trap } from './tcp-proxy.ts'

/**
 * The service finds Redis behind the proxy. From the instant on nothing passes on any of its connections, so a late
 * kill on a busy machine does not let it go on.
 */
export async function killAt(
  { proxy, service }: { proxy: TcpProxy; service: ServiceProcess },
  trap: Omit<Trap, 'silent'>,
): Promise<void> {
  await proxy.trap({ ...trap, silent: true }).then(() => proxy.mute())
  await service.kill()
  proxy.speak()
}
