/** Started parts, to be stopped in reverse order, once. */
export class Teardown {
  readonly #steps: (() => void | Promise<void>)[] = []
  #running: Promise<void> | undefined

  add(step: () => void | Promise<void>): void {
    this.#steps.push(step)
  }

  /** Runs every step, also when an earlier one fails; the first failure is thrown at the end. */
  run(): Promise<void> {
    this.#running ??= this.#run()
    return this.#running
  }

  async #run(): Promise<void> {
    const failures: unknown[] = []
    for (const step of this.#steps.toReversed()) {
      try {
        await step()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}
