export { createRedriveService } from './redrive-service.ts'
