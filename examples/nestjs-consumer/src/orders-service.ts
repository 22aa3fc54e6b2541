import { Injectable } from '@nestjs/common'

@Injectable()
export class OrdersService {
  pack({ order }: { order: number }): void {
    console.log('packed', order)
  }
}
