import { describe, expect, test } from "vitest";
import { memoryClock } from "../../src/adapters/memory/clock.ts";
import { systemClock } from "../../src/adapters/node/system-clock.ts";
import { T0_MS } from "../support/builders.ts";
import { clockContract } from "./clock.contract.ts";

clockContract("memory", () => memoryClock(T0_MS));
clockContract("system", systemClock);

describe("the memory clock", () => {
  test("stands still until it is advanced, also backwards", () => {
    const clock = memoryClock(T0_MS);
    clock.advance(1_000);
    expect(clock.nowMs()).toBe(T0_MS + 1_000);
    clock.advance(-3_000);
    expect(clock.nowMs()).toBe(T0_MS - 2_000);
  });

  test("a day of sleep takes no real time and moves the clock by a day", async () => {
    const clock = memoryClock(T0_MS);
    await clock.sleep(86_400_000);
    expect(clock.nowMs()).toBe(T0_MS + 86_400_000);
  });

  test("a poll in short steps ends before a long sleep", async () => {
    const clock = memoryClock(T0_MS);
    const timeout = clock.sleep(5_000).then(() => "timeout");
    const poll = async () => {
      for (let step = 0; step < 10; step++) await clock.sleep(100);
      return "polled";
    };
    expect(await Promise.race([timeout, poll()])).toBe("polled");
    expect(clock.nowMs()).toBe(T0_MS + 1_000);
    await timeout;
  });
});

describe("the system clock", () => {
  test("tells the time of the machine", () => {
    const beforeMs = Date.now();
    const nowMs = systemClock().nowMs();
    expect(nowMs).toBeGreaterThanOrEqual(beforeMs);
    expect(nowMs).toBeLessThanOrEqual(Date.now());
  });
});
