/*
 * Licensed under the Apache License, Version 2.0.
 */
package com.acme.bank;

import java.util.List;
import java.util.concurrent.*;
import static java.util.Objects.requireNonNull;
import static com.acme.Money.*;

/**
 * An account that holds money.
 */
@Entity
@Table(name = Names.ACCOUNTS)
public abstract class Account<T extends Owner> extends Base<T> implements Comparable<Account>, Named.Thing {

    private static final int MAX_NAME = 40;
    private final List<Entry> entries = new ArrayList<>();

    public Account(T owner) {
        super(owner);
        this.owner = requireNonNull(owner);
    }

    /** Books an amount. */
    @Override
    public void book(long amount, String text) throws BankException {
        Entry entry = new Entry(amount, text);
        entries.add(entry);
        listeners.forEach(listener -> listener.booked(entry));
        Audit.log(this.owner.name(), amount);
    }

    abstract long balance();

    enum State implements Coded {
        OPEN, CLOSED;

        State next() {
            return CLOSED;
        }
    }

    interface Listener extends EventListener {
        void booked(Entry entry);
    }

    record Entry(long amount, String text) implements Line {
        static Entry empty() {
            return new Entry(0, "");
        }
    }

    @interface Audited {
        String value() default "";
    }
}
