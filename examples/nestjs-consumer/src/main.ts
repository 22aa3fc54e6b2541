import 'reflect-metadata'
import { Fantail } from '@fantail/client'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { OrdersConsumer } from './orders-consumer.js'
import { OrdersService } from './orders-service.js'

@Module({ providers: [OrdersService, OrdersConsumer] })
class AppModule {}

/** A real service is set up once, for example by `fantail apply`. */
async function setUp(): Promise<void> {
  const fantail = new Fantail()
  await fantail.topics('orders').create()
  const { arn: deadLetterTargetArn } = await fantail.queues('orders-worker-dlq').create()
  const redrivePolicy = { deadLetterTargetArn, maxReceiveCount: 5 }
  const { arn } = await fantail.queues('orders-worker').create({ redrivePolicy })
  await fantail.topics('orders').subscribe({ endpoint: arn, rawMessageDelivery: true })
}

await setUp()
const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] })
app.enableShutdownHooks()
console.log('ready')
