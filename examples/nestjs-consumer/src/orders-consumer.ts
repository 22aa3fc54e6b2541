import { type Consumer, consume } from '@fantail/consumer'
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common'
import { OrdersService } from './orders-service.js'

/** Consumes the queue while the application runs. A shutdown waits for the handlers that have begun. */
@Injectable()
export class OrdersConsumer implements OnApplicationBootstrap, OnApplicationShutdown {
  private consumer: Consumer | undefined

  constructor(private readonly orders: OrdersService) {}

  onApplicationBootstrap(): void {
    this.consumer = consume(
      'orders-worker',
      // If the handler throws, the message comes again. After too many receives it goes to the dead-letter queue.
      async ({ body }) => this.orders.pack(JSON.parse(body)),
      { concurrency: 5 },
    )
    this.consumer.on('failed', (message, error) => console.error('failed', message.id, error))
  }

  async onApplicationShutdown(): Promise<void> {
    await this.consumer?.stop({ graceMs: 10_000 })
  }
}
