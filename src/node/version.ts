import { isUnspecifiedAddress } from '@tandem/base/address.ts'
import packageJson from '../../package.json' with { type: 'json' }

/** Returns a host for a URL that this machine can call. */
export const urlHost = (host: string): string =>
  isUnspecifiedAddress(host) ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host

export const version: string = packageJson.version

/** `<client>/<version>/<os>-<arch>/<runtime version>` (docs/interface.md#native-methods). */
export const clientVersion = `tandem/${version}/${process.platform}-${process.arch}/node${process.versions.node}`
