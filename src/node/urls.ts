import { isUnspecifiedAddress } from '@tandem/base/address.ts'

/** Returns a host for a URL that this machine can call. */
export const urlHost = (host: string): string =>
  isUnspecifiedAddress(host) ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
