# frozen_string_literal: true

# Keeps books.

require 'json'
require_relative '../lib/author'

module Library
  MAX_BOOKS = 100

  # A book.
  class Book < Catalog::Item
    include Comparable
    extend Searchable

    attr_reader :title

    STATES = %w[new lent].freeze

    def initialize(title, author: nil)
      @title = title
      super(author)
    end

    # Finds one by its title.
    def self.find(title)
      books = all.select { |book| book.title == title }
      JSON.parse(books.first.to_json)
    end

    class << self
      def create(*args)
        new(*args).tap(&:save)
      end
    end

    def lend!(reader)
      return unless available?

      Loan.create(reader, self)
      notify reader
    end

    private

    def available?
      @state != STATES.last
    end
  end

  Shelf = Struct.new(:books) do
    def full?
      books.size > MAX_BOOKS
    end
  end
end

Library::Book.create('Ruby')
